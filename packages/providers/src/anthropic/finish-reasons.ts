/** The models' own reasons, on any host. */
export { finishEvent } from '../claude/finish-reasons';
