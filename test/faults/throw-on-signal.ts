/** Preloaded into a server: SIGUSR2 causes an error that belongs to no request. */
process.on("SIGUSR2", () => {
  throw new Error("a fault of the service");
});
