import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { STACK_TOKEN, startStack, type Stack } from '../support/stack';

/** Chromium as a person has it; as root it needs no sandbox of its own. */
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

describe('a lead on the phone and the staff at the console', () => {
  let stack: Stack;
  let browser: Browser;
  let context: BrowserContext;
  const complaints: string[] = [];

  beforeAll(async () => {
    stack = await startStack({ worker: true });
    browser = await chromium.launch({
      executablePath: process.env['UNSILENT_CHROMIUM'] ?? 'chromium',
      args: FLAGS,
    });
    context = await browser.newContext({ viewport: { width: 1280, height: 860 } });
  }, 180_000);
  afterAll(async () => {
    await browser.close();
    await stack.close();
  }, 60_000);

  /** Opens a page and notes what its policy or its scripts complain of. */
  async function open(url: string): Promise<Page> {
    const page = await context.newPage();
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    await page.goto(url);
    return page;
  }

  async function writeAs(phone: Page, text: string): Promise<void> {
    await phone.getByTestId('composer').fill(text);
    await phone.getByTestId('send').click();
  }

  const openConsole = async (): Promise<Page> => {
    const page = await open(stack.apiUrl);
    await page.getByTestId('sign-in-token').fill(STACK_TOKEN);
    await page.getByTestId('sign-in').click();
    await page.getByTestId('conversation-list').waitFor();
    return page;
  };

  it('a lead writes, reads a meaningful answer, writes stop, gets one confirmation and then nothing more [T1] [S1] [INV-13]', async () => {
    const phone = await open(stack.sandboxUrl);
    await phone.getByTestId('channel-whatsapp').click();
    await phone.getByTestId('new-lead').click();
    await writeAs(phone, 'My water heater is leaking, can you come today? 60614');
    const answers = phone.getByTestId('bubble-business');
    await answers.first().waitFor({ timeout: 15_000 });
    expect(await answers.first().innerText()).toContain('water heater');
    await writeAs(phone, 'stop');
    await answers.nth(1).waitFor({ timeout: 15_000 });
    expect(await answers.nth(1).innerText()).toContain('not send you any more');
    await writeAs(phone, 'one more thing');
    await phone.getByTestId('bubble-lead').nth(2).waitFor();
    await expectNothingFor(2_000, async () => (await answers.count()) > 2);
    await phone.close();
  });

  it('the console shows the thread with every step in plain words, live, and a person takes over [INV-15] [T6]', async () => {
    const phone = await open(stack.sandboxUrl);
    const desk = await openConsole();
    await phone.getByTestId('channel-messenger').click();
    await phone.getByTestId('new-lead').click();
    await writeAs(phone, 'The kitchen drain is clogged, 60614');
    await phone.getByTestId('bubble-business').first().waitFor({ timeout: 15_000 });
    const row = desk.locator('[data-testid^="conversation-cnv_"]').first();
    await row.getByText(/drain/i).first().waitFor({ timeout: 15_000 });
    await row.click();
    await desk.getByTestId('bubble-in').first().waitFor();
    await desk.getByTestId('bubble-out').first().waitFor();
    expect(await desk.getByTestId('timeline-entry').count()).toBeGreaterThan(2);
    await desk.getByTestId('take-over').click();
    await desk.getByTestId('give-back').waitFor();
    await writeAs(phone, 'Are you still there?');
    await desk.getByTestId('bubble-in').nth(1).waitFor({ timeout: 15_000 });
    await expectNothingFor(
      2_000,
      async () => (await phone.getByTestId('bubble-business').count()) > 1,
    );
    await desk.getByTestId('give-back').click();
    await phone.getByTestId('bubble-business').nth(1).waitFor({ timeout: 15_000 });
    await Promise.all([phone.close(), desk.close()]);
  });

  it('neither page breaks its own content policy or throws [T1]', () => {
    expect(complaints).toEqual([]);
  });

  /** Watches in real time that something does not happen, because a person would. */
  async function expectNothingFor(milliseconds: number, happened: () => Promise<boolean>) {
    const endsAt = Date.now() + milliseconds;
    while (Date.now() < endsAt) {
      expect(await happened()).toBe(false);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
});
