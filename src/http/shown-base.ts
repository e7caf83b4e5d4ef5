import { holdsKey } from "../text/keys-in-text.ts";

const saneHost = /^([\w.-]{1,253}|\[[\da-f:.]{2,45}\])(:\d{1,5})?$/i;

/** Returns the base address for examples in a text: the host that the client has named, unless it may not be shown. */
export function shownBase(host: string | undefined): string {
  return `http://${host && saneHost.test(host) && !holdsKey(host) ? host : "localhost:8080"}`;
}
