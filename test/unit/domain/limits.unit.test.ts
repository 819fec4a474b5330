import { ATTEMPT_LIMIT_MS, CALL_START_LIMIT_MS, CALL_TIMEOUT_MS } from '../../../domain/limits';

describe('the bounds of the send path', () => {
  it('let nobody judge an attempt whose call may still begin or be answered [C6] [S3]', () => {
    expect(ATTEMPT_LIMIT_MS).toBeGreaterThan(CALL_START_LIMIT_MS + CALL_TIMEOUT_MS);
  });
});
