import { expect, it } from 'vitest';
import { withoutEchoedKey } from '../../src/service/echoed-keys.ts';

const KEY = 'sk/live+Zr8Qw"2b\\Xy';

it.each([
  ['as JSON has it', JSON.stringify(KEY)],
  ['with escaped slashes', JSON.stringify(KEY).replaceAll('/', '\\/')],
  ['with more escapes', JSON.stringify(KEY).replaceAll('+', '\\u002B').replaceAll('\\"', '\\u0022')],
  ['as in addresses', JSON.stringify(encodeURIComponent(KEY))],
  ['as in HTML', '"sk&#x2F;live&plus;Zr8Qw&quot;2b&#92;Xy"'],
  ['in capitals', JSON.stringify(KEY.replace('sk', 'SK'))],
])('a key in a body is redacted, and the rest stays: %s', (_, text) => {
  const whole = `{"data":[{"ö":"é ${text.slice(1, -1)} 日本"}]}`;
  const body = withoutEchoedKey(Buffer.from(whole), `Bearer ${KEY}`);
  expect(JSON.parse(String(body))).toEqual({ data: [{ ö: 'é [redacted] 日本' }] });
});

it.each([
  ['12345678', '{"value":12345678}'],
  ['1234.5e+10', '{"value":1234.5e+10}'],
  ['[1,null]', '{"value":[1,null]}'],
  ['short', '{"value":"a short word"}'],
  [KEY, '{"value":"Zr8Qw of another key"}'],
  [`a","b":"c`, '{"x":"a","b":"c"}'],
])('a body is left as it is where a key would be no key: %s', (key, text) => {
  expect(String(withoutEchoedKey(Buffer.from(text), `Bearer ${key}`))).toBe(text);
});
