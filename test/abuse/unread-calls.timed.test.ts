import { testUnreadCalls } from "./unread-calls.ts";

/** The attacks that needed most memory. All attacks are tested every night. */
const costliest = [
  "25,600 checks of one address with 110 headers",
  "18,000 calls of 60 addresses with 110 headers",
];
testUnreadCalls((_, attack) => costliest.includes(attack));
