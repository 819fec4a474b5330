import {
  createTheme,
  Modal,
  type CSSVariablesResolver,
  type MantineThemeOverride,
} from '@mantine/core';

/** Mantine with the contrast that WCAG AA asks for, and names for buttons that only show a cross. */
export const theme: MantineThemeOverride = createTheme({
  primaryColor: 'cyan',
  primaryShade: { light: 9, dark: 8 },
  autoContrast: true,
  cursorType: 'pointer',
  defaultRadius: 'md',
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif',
  components: {
    Modal: Modal.extend({ defaultProps: { closeButtonProps: { 'aria-label': 'Close' } } }),
  },
});

/** Mantine's own dimmed and placeholder greys are too pale on white and too dark on black. */
export const contrastVariables: CSSVariablesResolver = ({ colors }) => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': colors.gray[7],
    '--mantine-color-placeholder': colors.gray[7],
  },
  dark: {
    '--mantine-color-dimmed': colors.dark[1],
    '--mantine-color-placeholder': colors.dark[1],
  },
});
