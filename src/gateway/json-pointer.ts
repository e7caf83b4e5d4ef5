/** For the requests that are suggested; all else asks the original. */
export { keysOfPointer } from "../json-pointer.ts";
