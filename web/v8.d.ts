/** Only V8 has this property. In other browsers it has no effect. */
interface ErrorConstructor {
  stackTraceLimit: number;
}
