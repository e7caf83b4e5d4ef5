/** What an error says about asking again. */
export type Failure =
  /** The service said when. */
  | { readonly kind: "limited"; readonly waitMs: number }
  /** It was not the service that said so: the connection broke, or the node that answered is gone. */
  | { readonly kind: "lost" }
  /** The service said why, and it will say so again. */
  | { readonly kind: "refused" };

const longestWaitMs = 60_000;
const lostMax = 5;

/**
 * Makes a call, and makes it again after the delay that the service asks for, or soon, where its answer was lost: searches
 * have no side effects, and by depth the same search gives the same answer on every node. Not for `CreateKey`.
 */
export async function askAgain<T>(
  call: () => Promise<T>,
  failureOf: (error: unknown) => Failure,
  print: (line: string) => void,
): Promise<T> {
  for (let lost = 0; ; ) {
    try {
      return await call();
    } catch (error) {
      const failure = failureOf(error);
      if (failure.kind === "limited" && failure.waitMs <= longestWaitMs) {
        print(`rate limited, waiting ${Math.round(failure.waitMs / 1000)} s`);
        await sleep(failure.waitMs);
      } else if (failure.kind === "lost" && lost < lostMax) {
        lost++;
        print("connection lost, asking again");
        // Not all callers of a node at once, and each time less often.
        await sleep(100 * 2 ** lost * Math.random());
      } else {
        throw error;
      }
    }
  }
}

/** Says of each depth whether it is new: a stream that was lost begins anew. */
export function createNewDepths(): (depth: number) => boolean {
  let deepest = 0;
  return (depth) => {
    const isNew = depth > deepest;
    deepest = Math.max(deepest, depth);
    return isNew;
  };
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
