import type { OlderEncoding } from "../game/file-text.ts";
import { store, stored } from "../parts/stored.ts";

/** A text with several games. */
export interface ListText {
  readonly text: string;
  readonly encoding: OlderEncoding | undefined;
}

/** The place of the tab's number in `sessionStorage`. The number is the time at which the tab stored its first list. */
const place = "kibitz-list";
const texts = "texts";

/** Lists of tabs that were closed are deleted after this time. */
const keptMs = 7 * 24 * 3600_000;

/** Stores the list of this tab in IndexedDB, because `sessionStorage` is too small for large files. */
export async function keepList(list: ListText | undefined): Promise<void> {
  const known = stored("sessionStorage", place);
  if (list === undefined && known === undefined) {
    return;
  }
  const tab = Number(known ?? Date.now() + Math.random());
  store("sessionStorage", place, list && String(tab));
  await inStore("readwrite", (lists): IDBRequest => {
    lists.delete(IDBKeyRange.upperBound(Date.now() - keptMs));
    return list ? lists.put(list, tab) : lists.delete(tab);
  });
}

/** Resolves with the list that this tab stored before a reload. */
export async function keptList(): Promise<ListText | undefined> {
  const tab = stored("sessionStorage", place);
  return tab === undefined
    ? undefined
    : await inStore("readonly", (lists): IDBRequest<ListText | undefined> => lists.get(Number(tab)));
}

/** Resolves with undefined if the browser forbids storage. */
async function inStore<Result>(
  mode: IDBTransactionMode,
  use: (lists: IDBObjectStore) => IDBRequest<Result>,
): Promise<Result | undefined> {
  try {
    const opening = indexedDB.open("kibitz", 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore(texts);
    const database = await resultOf(opening);
    const result = await resultOf(use(database.transaction(texts, mode).objectStore(texts)));
    database.close();
    return result;
  } catch {
    return undefined;
  }
}

function resultOf<Result>(request: IDBRequest<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
