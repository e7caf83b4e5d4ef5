/** Of V8 alone; `src/errors` sets it, and elsewhere it has no effect. */
interface ErrorConstructor {
  stackTraceLimit: number;
}
