import * as real from "../../../src/storage/memory/limit-store.ts";

let isEntering = false;

/** True while a node reports a request that was counted in the memory of the node, and not in the shared store. */
export const isCountedByNode = (): boolean => isEntering;

export function createMemoryLimitStore(
  ...usage: Parameters<typeof real.createMemoryLimitStore>
): real.MemoryLimitStore {
  const store = real.createMemoryLimitStore(...usage);
  return {
    ...store,
    enter: (asked, waiting, onEntered) =>
      store.enter(asked, waiting, (place) => {
        isEntering = true;
        try {
          onEntered?.(place);
        } finally {
          isEntering = false;
        }
      }),
  };
}
