// @ts-check
import { dropPermissions, moduleVariable } from "./permissions.js";

// Emscripten starts this file in each thread of the engine. This file imports only what a thread needs, to save memory.
await import(process.env[moduleVariable] ?? "");
dropPermissions();
