import { getCACertificates, setDefaultCACertificates } from 'node:tls';

/** A key for tests alone; both certificates are for `data.service.example` and 127.0.0.1, and sign themselves. */
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

/** Valid in 2020. */
export const EXPIRED_CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBiTCCATCgAwIBAgIBAjAKBggqhkjOPQQDAjAhMR8wHQYDVQQDDBZ0ZXN0cyBv
ZiBjb3VudHJ5LWdyYXBoMB4XDTIwMDEwMTAwMDAwMFoXDTIxMDEwMTAwMDAwMFow
ITEfMB0GA1UEAwwWdGVzdHMgb2YgY291bnRyeS1ncmFwaDBZMBMGByqGSM49AgEG
CCqGSM49AwEHA0IABCwl37BEizDV9iahbdqpLwbJayspT/CK0xlpibluCWSBdy7z
+yJipngyVnLa9bAy3BjMjjbzdzQZftAiloQZbmOjWTBXMA8GA1UdEwEB/wQFMAMB
Af8wJQYDVR0RBB4wHIIUZGF0YS5zZXJ2aWNlLmV4YW1wbGWHBH8AAAEwHQYDVR0O
BBYEFI8NDoMCKJVMtXWsMHkQY+k+PJgMMAoGCCqGSM49BAMCA0cAMEQCIHkH4y2i
Lg4Ms5nb3FZ4fNRW+QgTE26Biw9ezR1LWm5qAiBgbiodstSjb/EqkjDxNvTtIP2+
14/w+l70sr3MgMrmSA==
-----END CERTIFICATE-----
`;

/** This process accepts a certificate from here on. */
export function trust(...certificates: readonly string[]): void {
  setDefaultCACertificates([...getCACertificates('default'), ...certificates]);
}
