import { simulatedFs } from "../disk.ts";

export * from "node:fs";

export const { accessSync, chmodSync, existsSync, mkdirSync, statSync, rmSync } = simulatedFs;
