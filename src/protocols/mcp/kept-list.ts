import { LRUCache } from "lru-cache";
import type { Plain } from "./caller.ts";

/** An answer to `tools/list`, in two parts: the id of the request stands between them. */
interface KeptAnswer {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly parts: readonly string[];
}

/** Forms of the request that are kept, and how long one may be: headers, and what clients say of themselves. */
const keptMax = 16;
const formMaxLength = 1000;

/** Stands for the id of a request; nothing in a list of tools looks like this. */
const idMark = "the id of the request";

/**
 * Answers `tools/list`: to have the SDK make 20 kB of JSON for 194 bytes of request takes more than a millisecond, so each form of
 * the request is made once. The tools change with a version of this service only.
 *
 * @param make has the SDK answer a body
 * @returns undefined if the request is none, or none that the SDK answers with one message
 */
export function createKeptList() {
  const kept = new LRUCache<string, KeptAnswer>({ max: keptMax });
  return async (
    request: Request,
    body: Plain,
    make: (body: Plain) => Promise<Response>,
  ): Promise<Response | undefined> => {
    const { id, ...rest } = body;
    if (body.method !== "tools/list" || (typeof id !== "string" && !Number.isSafeInteger(id))) {
      return undefined;
    }
    const form = JSON.stringify([[...request.headers], rest]);
    if (form.length > formMaxLength) {
      return undefined;
    }
    let answer = kept.get(form);
    if (answer === undefined) {
      const { status, headers, ok, text } = await read(await make({ ...rest, id: idMark }));
      answer = { status, headers, parts: text.split(JSON.stringify(idMark)) };
      if (!ok || answer.parts.length !== 2 || !text.includes('"result":')) {
        return undefined;
      }
      kept.set(form, answer);
    }
    const { status, headers, parts } = answer;
    return new Response(parts.join(JSON.stringify(id)), {
      status,
      headers: headers.map(([...pair]) => pair),
    });
  };
}

async function read(response: Response) {
  const { status, ok, headers } = response;
  return { status, ok, headers: [...headers], text: await response.text() };
}
