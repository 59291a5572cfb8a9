import { getCACertificates, setDefaultCACertificates } from 'node:tls';

/** A key for tests alone. Its certificate is for `data.service.example` and 127.0.0.1, and signs itself. */
export const TEST_KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgzD6eCTRJBMk2e/+W
wz0ck1XTnGUK/ZnF8A73F3DV9dKhRANCAAQsJd+wRIsw1fYmoW3aqS8GyWsrKU/w
itMZaYm5bglkgXcu8/siYqZ4MlZy2vWwMtwYzI4283c0GX7QIpaEGW5j
-----END PRIVATE KEY-----
`;

/** Valid from 2020 to 2120. */
export const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBjDCCATKgAwIBAgIBATAKBggqhkjOPQQDAjAhMR8wHQYDVQQDDBZ0ZXN0cyBv
ZiBjb3VudHJ5LWdyYXBoMCAXDTIwMDEwMTAwMDAwMFoYDzIxMjAwMTAxMDAwMDAw
WjAhMR8wHQYDVQQDDBZ0ZXN0cyBvZiBjb3VudHJ5LWdyYXBoMFkwEwYHKoZIzj0C
AQYIKoZIzj0DAQcDQgAELCXfsESLMNX2JqFt2qkvBslrKylP8IrTGWmJuW4JZIF3
LvP7ImKmeDJWctr1sDLcGMyONvN3NBl+0CKWhBluY6NZMFcwDwYDVR0TAQH/BAUw
AwEB/zAlBgNVHREEHjAcghRkYXRhLnNlcnZpY2UuZXhhbXBsZYcEfwAAATAdBgNV
HQ4EFgQUjw0OgwIolUy1dawweRBj6T48mAwwCgYIKoZIzj0EAwIDSAAwRQIgYl31
XDlKeaqx8xliiXifSFIQTxIss18ED4Ji/yLwHRcCIQCn1W94iPIWUvNOZulo0SSg
3MKF6LC43/xVWKaMFuMpSw==
-----END CERTIFICATE-----
`;

/** This process accepts a certificate from here on. */
export function trust(...certificates: readonly string[]): void {
  setDefaultCACertificates([...getCACertificates('default'), ...certificates]);
}
