-- The hash of a budget's counters: its project's, or the one that organizations, teams and users share. It has the slot
-- of the epoch, whose name tells its own.
local SHARED = string.sub(KEYS[1], 1, -6) .. 'p:shared'
local function home_of(name, project)
  local owner = string.sub(name, 2, 2)
  if owner == 'o' or owner == 't' or owner == 'u' then return SHARED end
  return project
end
