import { testFreeWork } from "./free-work.ts";

/** One way with a deadline, and one whose client disconnects. All ways are tested every night. */
const tested = [
  "evaluations of 600 moves over Connect with a deadline of 1 ms",
  "evaluations of 600 moves whose client disconnects after 5 ms",
];
testFreeWork((name) => tested.includes(name));
