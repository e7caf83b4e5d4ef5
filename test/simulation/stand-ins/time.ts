import { simulated } from "../current.ts";

type Time = typeof import("../../../src/time/time.ts");

const time = () => simulated().clock.time;

export const now: Time["now"] = () => time().now();
export const wall: Time["wall"] = () => time().wall();
export const after: Time["after"] = (ms, run) => time().after(ms, run);
export const every: Time["every"] = (ms, run) => time().every(ms, run);
export const soon: Time["soon"] = (run) => time().soon(run);
export const turn: Time["turn"] = () => time().turn();
export const sleep: Time["sleep"] = (ms, options) => time().sleep(ms, options);
export const timeoutSignal: Time["timeoutSignal"] = (ms) => time().timeoutSignal(ms);
