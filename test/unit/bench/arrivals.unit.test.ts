import { planArrivals } from '../../../bench/arrivals';

describe('the arrivals of a benchmark', () => {
  it('are the same for the same seed, and others for another', () => {
    const plan = { rate: 10, durationMs: 5_000, seed: 7 };
    expect(planArrivals(plan)).toEqual(planArrivals(plan));
    expect(planArrivals({ ...plan, seed: 8 })).not.toEqual(planArrivals(plan));
  });

  it('are in order and inside the span', () => {
    const arrivals = planArrivals({ rate: 20, durationMs: 10_000, seed: 1 });
    expect(arrivals).toEqual([...arrivals].sort((left, right) => left - right));
    expect(arrivals.every((at) => at > 0 && at < 10_000)).toBe(true);
  });

  it.each([1, 5, 20])(
    'come at the asked rate and scatter as a Poisson process does (%i/s)',
    (rate) => {
      const seconds = 2_000;
      const arrivals = planArrivals({ rate, durationMs: seconds * 1_000, seed: 3 });
      const gaps = arrivals.map((at, index) => at - (arrivals[index - 1] ?? 0));
      const mean = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length;
      const variance = gaps.reduce((sum, gap) => sum + (gap - mean) ** 2, 0) / gaps.length;
      expect(arrivals.length / seconds / rate).toBeCloseTo(1, 1);
      // The standard deviation of exponential gaps equals their mean.
      expect(Math.sqrt(variance) / mean).toBeCloseTo(1, 1);
    },
  );
});
