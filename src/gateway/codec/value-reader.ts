import type { Fault } from "../../errors/errors.ts";

/** Turns a JSON value into what a message holds for it; `undefined` if it is at fault. */
export type ReadValue = (json: unknown, faults: Fault[]) => unknown;
