import express from 'express';
import { CommitUnknownError, StatementError } from '../../../db/errors';
import { ProblemError, problemHandler, sendProblem } from '../../../api/problem';
import { serve, type Served } from './serving';

const known = { status: 409, code: 'newer_message', title: 'Look first', detail: 'It is newer.' };

const THROWN: Record<string, () => Error> = {
  known: () => new ProblemError({ ...known, extra: { newestSeq: 7 } }),
  commit: () => new CommitUnknownError(),
  gone: () => new StatementError('list-conversations', '57P01', null),
  wrong: () => new StatementError('list-conversations', '22P02', null),
  secret: () => new Error('the lead +13125550142 wrote this'),
};

describe('an answer that is not a success', () => {
  const logged: { fields: Readonly<Record<string, unknown>>; text: string }[] = [];
  let served: Served;

  beforeAll(async () => {
    const app = express();
    app.use(express.json());
    app.get('/throw/:what', (request) => {
      throw THROWN[request.params.what]?.() ?? new Error('unknown');
    });
    app.get('/send', (_request, response) => {
      sendProblem(response, known);
    });
    app.post('/body', (_request, response) => {
      response.json({});
    });
    app.use(problemHandler({ error: (fields, text) => logged.push({ fields, text }) }));
    served = await serve(app);
  });
  beforeEach(() => {
    logged.length = 0;
  });
  afterAll(() => served.close());

  async function problem(path: string, init: RequestInit = {}) {
    const response = await fetch(`${served.url}${path}`, init);
    expect(response.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    expect(response.headers.get('cache-control')).toBe('no-store');
    const body = (await response.json()) as Record<string, unknown>;
    expect(body['status']).toBe(response.status);
    return { response, body };
  }

  it('is problem+json with a stable code and what the caller can do', async () => {
    const { body } = await problem('/send');
    expect(body).toEqual({ type: 'urn:unsilent:problem:newer_message', ...known });
  });

  it.each([
    ['known', 409, 'newer_message'],
    ['commit', 503, 'outcome_unknown'],
    ['gone', 503, 'unavailable'],
  ])('%s errors are told and not logged as unexpected', async (what, status, code) => {
    const { body } = await problem(`/throw/${what}`);
    expect(body).toMatchObject({ status, code });
    expect(logged).toEqual([]);
  });

  it('a known problem keeps its extra members', async () => {
    const { body } = await problem('/throw/known');
    expect(body).toMatchObject({ newestSeq: 7 });
  });

  it.each(['secret', 'wrong'])(
    '%s: an unknown error says nothing but its request id, and is logged under it [SEC9]',
    async (what) => {
      const { response, body } = await problem(`/throw/${what}`);
      expect(body).toMatchObject({ status: 500, code: 'internal_error', detail: '' });
      expect(JSON.stringify(body)).not.toContain('312555');
      expect(logged).toHaveLength(1);
      expect(logged[0]?.fields['requestId']).toBe(body['requestId']);
      expect(response.headers.get('x-request-id')).toBe(body['requestId']);
    },
  );

  it.each([
    ['broken JSON', '{"a":', 400, 'bad_request'],
    ['a body over the limit', JSON.stringify({ a: 'x'.repeat(200_000) }), 413, 'too_large'],
  ])("%s is the caller's mistake [SEC10]", async (_name, body, status, code) => {
    const headers = { 'Content-Type': 'application/json' };
    const answer = await problem('/body', { method: 'POST', headers, body });
    expect(answer.body).toMatchObject({ status, code });
    expect(logged).toEqual([]);
  });

  it("an address that cannot be decoded is the caller's mistake", async () => {
    const { body } = await problem('/throw/%E0%A4%A');
    expect(body).toMatchObject({ status: 400, code: 'bad_request' });
  });
});
