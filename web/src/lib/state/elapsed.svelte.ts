/** How long something has been going on, in whole seconds; counts while it is attached. */
export class Elapsed {
  seconds = $state(0);

  watch = (): (() => void) => {
    const began = performance.now();
    const timer = setInterval(() => (this.seconds = Math.floor((performance.now() - began) / 1000)), 1000);
    return () => clearInterval(timer);
  };
}
