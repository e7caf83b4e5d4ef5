import { LRUCache } from "lru-cache";
import type { Plain } from "./caller.ts";

/** An answer to `tools/list` in two parts, with the id of the request between them. */
interface KeptAnswer {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly parts: readonly string[];
}

/** Most forms of the request that are kept, and the longest form in characters: headers, and the description of the client. */
const keptMax = 16;
const formMaxLength = 1000;

/** Stands for the id of a request. The list of tools does not contain it. */
const idMark = "the id of the request";

/**
 * Answers `tools/list` from a cache by the form of the request: the SDK takes more than a millisecond for these 20 kB of JSON, and a flood
 * of 200-byte requests would delay all others. The tools change only with a version of this service.
 *
 * @param make lets the SDK answer a body
 * @returns undefined if it is another request, or if the SDK does not answer it with one result
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
