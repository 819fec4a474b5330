import { FAILPOINTS, makeFailpoints } from '../../../config/failpoints';

describe('failpoints', () => {
  it('does nothing where none is armed', () => {
    const reach = makeFailpoints(undefined);
    expect(() => {
      for (const point of FAILPOINTS) reach(point);
    }).not.toThrow();
  });

  it('throws once, at its point alone', () => {
    const reach = makeFailpoints('turn:drafted=throw');
    expect(() => reach('turn:begun')).not.toThrow();
    expect(() => reach('turn:drafted')).toThrow('failpoint turn:drafted');
    expect(() => reach('turn:drafted')).not.toThrow();
  });

  it('waits for the Nth time, and holds several points', () => {
    const reach = makeFailpoints('turn:begun=throw@3,deliver:accepted=throw');
    expect(() => reach('turn:begun')).not.toThrow();
    expect(() => reach('turn:begun')).not.toThrow();
    expect(() => reach('turn:begun')).toThrow('failpoint turn:begun');
    expect(() => reach('deliver:accepted')).toThrow('failpoint deliver:accepted');
  });

  it.each(['turn:drawn=kill', 'turn:drafted', 'turn:drafted=stop', 'turn:drafted=kill@0'])(
    'refuses what would never come about: %s',
    (text) => {
      expect(() => makeFailpoints(text)).toThrow('UNSILENT_FAILPOINT names no failpoint');
    },
  );

  it('names at least thirty points, each once [LV-4]', () => {
    expect(FAILPOINTS.length).toBeGreaterThanOrEqual(30);
    expect(new Set(FAILPOINTS).size).toBe(FAILPOINTS.length);
  });
});
