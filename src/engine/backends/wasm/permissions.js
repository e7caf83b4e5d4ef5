// @ts-check

/** Each thread drops its own permissions. With the permission `worker`, a thread could start a thread with all permissions. */
export function dropPermissions() {
  process.permission.drop("worker");
  process.permission.drop("fs.read");
}

/** Threads get the address of the module in this variable, because Emscripten would pass arguments to Stockfish. */
export const moduleVariable = "KIBITZ_ENGINE_MODULE";
