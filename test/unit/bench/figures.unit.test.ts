import { spreadOf } from '../../../bench/figures';

describe('the figures of samples', () => {
  it('are nearest ranks, whatever the order of the samples', () => {
    const samples = Array.from({ length: 100 }, (_, index) => 100 - index);
    expect(spreadOf(samples)).toEqual({ count: 100, p50: 50, p95: 95, p99: 99, max: 100 });
  });

  it('round a rank up: of ten samples the 95th percentile is the slowest', () => {
    const samples = Array.from({ length: 10 }, (_, index) => index + 1);
    expect(spreadOf(samples)).toMatchObject({ p50: 5, p95: 10, p99: 10 });
  });

  it('of one sample are that sample', () => {
    expect(spreadOf([7])).toEqual({ count: 1, p50: 7, p95: 7, p99: 7, max: 7 });
  });

  it('of no sample are not numbers, so that nobody reads them as zero', () => {
    expect(spreadOf([]).p50).toBeNaN();
  });
});
