/** File name of scripts in error messages. */
export const SCRIPT_NAME = 'script.js';

/**
 * Runs inside the sandbox before the script: makes `console` and timers, and returns `[offer, start, settle, fire]`;
 * `offer` makes `tools`. It saves built-ins beforehand, because scripts may change them.
 */
export const GUEST_SOURCE = String.raw`(function (hostCall, hostLog, hostDone, hostTimer, maxResult) {
  'use strict';
  const { parse, stringify } = JSON;
  const { apply, defineProperty } = Reflect;
  const { create, freeze, keys } = Object;
  const PromiseOf = Promise, ErrorOf = Error, TypeErrorOf = TypeError, ProxyOf = Proxy, StringOf = String;
  const { slice } = String.prototype;
  const waiting = create(null), timers = create(null);
  let nextId = 1;

  const makers = [function () {}, async function () {}, function* () {}, async function* () {}];
  const refuse = function Function() {
    throw new TypeErrorOf("Code from strings isn't allowed here.");
  };
  for (let i = 0; i < makers.length; i++) {
    const prototype = Object.getPrototypeOf(makers[i]);
    defineProperty(prototype, 'constructor', { value: refuse, writable: false, configurable: false });
  }
  refuse.prototype = Function.prototype;
  defineProperty(globalThis, 'Function', { value: refuse, writable: false, configurable: false });
  delete globalThis.eval;
  delete globalThis.SharedArrayBuffer;
  delete globalThis.Atomics;

  const cut = (text, most) => (text.length > most ? apply(slice, text, [0, most]) : text);
  const textOf = (value) => {
    try {
      if (typeof value === 'string') return value;
      if (typeof value === 'symbol' || typeof value === 'function' || typeof value === 'bigint') return StringOf(value);
      if (value instanceof ErrorOf) return describe(value);
      const text = stringify(value);
      return typeof text === 'string' ? text : StringOf(value);
    } catch {
      return '[a value that cannot be shown]';
    }
  };
  const describe = (error) => {
    try {
      if (!(error instanceof ErrorOf)) return 'thrown: ' + textOf(error);
      const { name, message, stack } = error;
      const place = typeof stack === 'string' ? '\n' + stack : '';
      return StringOf(name) + ': ' + StringOf(message) + place;
    } catch {
      return 'Error: thrown was a value that cannot be shown';
    }
  };

  const call = (server, name, args) =>
    new PromiseOf((resolve, reject) => {
      const text = args === undefined ? '{}' : stringify(args);
      if (typeof text !== 'string' || text[0] !== '{') {
        throw new TypeErrorOf('A tool takes one object of arguments, as in tools.server.tool({ name: value }).');
      }
      const id = nextId++;
      const refusal = hostCall(id, server, name, text);
      if (refusal !== '') throw new ErrorOf(refusal);
      waiting[id] = { resolve, reject };
    });
  const named = (values, missing) =>
    new ProxyOf(freeze(values), {
      get(target, key) {
        if (typeof key === 'symbol' || key in target || key === 'then' || key === 'toJSON') return target[key];
        throw new TypeErrorOf(missing(key));
      },
    });
  const define = (name, value) =>
    defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
  // sfc32: what QuickJS itself would give begins with the same numbers in each run.
  const randomOf = (a, b, c, d) => () => {
    const sum = (((a + b) | 0) + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return (sum >>> 0) / 4294967296;
  };
  const offer = (toolsText, a, b, c, d) => {
    defineProperty(Math, 'random', { value: randomOf(a, b, c, d), writable: true, configurable: true });
    const lists = parse(toolsText);
    const tools = create(null);
    for (let i = 0; i < lists.length; i++) {
      const server = lists[i][0], names = lists[i][1], calls = create(null);
      for (let j = 0; j < names.length; j++) calls[names[j]] = (args) => call(server, names[j], args);
      tools[server] = named(calls, (key) => 'There is no tool "' + key + '" of "' + server + '". search_tools finds what there is.');
    }
    define('tools', named(tools, (key) => 'There is no server "' + key + '". list_servers tells which there are.'));
  };

  const logAs = (level) => (...values) => {
    let line = level;
    for (let i = 0; i < values.length; i++) line += (i > 0 ? ' ' : '') + cut(textOf(values[i]), maxResult);
    hostLog(cut(line, maxResult));
  };
  const timeout = (run, ms, ...values) => {
    if (typeof run !== 'function') throw new TypeErrorOf('setTimeout takes a function.');
    const id = nextId++;
    const refusal = hostTimer(id, +ms || 0);
    if (refusal !== '') throw new ErrorOf(refusal);
    timers[id] = { run, values };
    return id;
  };
  const console = { log: logAs(''), info: logAs(''), debug: logAs(''), warn: logAs('warn: '), error: logAs('error: ') };
  define('console', console);
  define('setTimeout', timeout);
  define('clearTimeout', (id) => {
    if (timers[id] === undefined) return;
    delete timers[id];
    hostTimer(+id, -1);
  });

  const finish = async (running, isProgram) => {
    try {
      let value = await running;
      // A program's promise gives its last expression in an object, so that a promise there is not lost.
      if (isProgram) value = await value.value;
      if (typeof value === 'function') value = await value();
      const text = stringify(value);
      if (text === undefined) return hostDone(true, 'null');
      if (text.length > maxResult) {
        return hostDone(false, 'Error: the result is larger than ' + maxResult + ' bytes of JSON. Return less.');
      }
      hostDone(true, text);
    } catch (error) {
      hostDone(false, cut(describe(error), 8192));
    }
  };
  const start = (main, isProgram) => {
    if (isProgram) return finish(main, true);
    if (typeof main !== 'function') return hostDone(false, 'SyntaxError: the code is no body of an async function');
    finish(main(), false);
  };
  const settle = (id, ok, text) => {
    const { resolve, reject } = waiting[id];
    delete waiting[id];
    if (!ok) {
      const error = new ErrorOf(text);
      defineProperty(error, 'name', { value: 'ToolError', writable: true, configurable: true });
      return reject(error);
    }
    try {
      resolve(parse(text));
    } catch (error) {
      reject(error);
    }
  };
  const fire = (id) => {
    const timer = timers[id];
    delete timers[id];
    if (timer !== undefined) apply(timer.run, undefined, timer.values);
  };
  return [offer, start, settle, fire];
})`;
