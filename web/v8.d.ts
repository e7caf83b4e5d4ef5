/** Only V8 has `stackTraceLimit`. Other browsers ignore the property. */
interface ErrorConstructor {
  stackTraceLimit: number;
}
