<?php
// What a backend accepts from Countersign: sessions, verified without a call, and events that end them.
declare(strict_types=1);

namespace Sessions;

use Service\Refusal;
use function Service\digest;
use function Tokens\{public_key, read, service_key, shared};

define('ORIGIN', \Service\setting('ORIGIN', 'http://127.0.0.1:8460')); // this backend, as devices see it
const MEMBERS = ['EC' => ['crv', 'kty', 'x', 'y'], 'RSA' => ['e', 'kty', 'n']]; // what RFC 7638 hashes
const ENDING = ['session-revoked', 'account-disabled', 'account-purged'];

// The names and times that are not older than `life` seconds.
function recent(array $memory, int $life): array
{
    return array_filter($memory, fn ($moment) => $moment >= time() - $life);
}

// The claims of a token for this provider.
function signed_by_service(string $text, string $type, string $issuer): array
{
    $claims = read($text, $type, fn ($header) => service_key($header['kid'] ?? ''));
    if ($claims['iss'] !== $issuer || $claims['aud'] !== PROVIDER['provider_id']) {
        throw new \UnexpectedValueException('wrong issuer or audience');
    }
    return $claims;
}

// The result of the act, or a refusal for a defective token.
function judged(int $status, string $error, callable $act): mixed
{
    try {
        return $act();
    } catch (Refusal $refusal) {
        throw $refusal;
    } catch (\UnexpectedValueException | \ErrorException | \Error $cause) {
        throw new Refusal($status, $error, $cause->getMessage());
    }
}

// The claims of a session's token. They prove nothing until `cnf` was compared with the device.
function session(string $token): array
{
    return judged(401, 'invalid_token', function () use ($token) {
        $claims = signed_by_service($token, 'at+jwt', SERVICE);
        [$sessions, $users] = shared(fn (&$state) => [$state['sessions'], $state['users']]);
        $userEnded = $users[$claims['external_id']] ?? 0;
        if ($claims['exp'] <= time() || isset($sessions[$claims['sid']]) || $claims['auth_time'] <= $userEnded) {
            throw new \UnexpectedValueException('the session has ended');
        }
        return $claims;
    });
}

// A DPoP proof (RFC 9449) for this request and token, by the key of this thumbprint, used for the first time.
function check_proof(string $text, string $method, string $path, string $token, ?string $thumbprint): void
{
    $claims = read($text, 'dpop+jwt', function ($header) use ($thumbprint) {
        $key = [];
        foreach (MEMBERS[$header['jwk']['kty']] as $member) {
            $key[$member] = $header['jwk'][$member];
        }
        if (digest(\Service\json($key)) !== $thumbprint) {
            throw new \UnexpectedValueException("by another key than the token's");
        }
        return public_key($key);
    });
    $isGood = $claims['htm'] === $method && $claims['htu'] === ORIGIN . $path && $claims['ath'] === digest($token)
        && is_int($claims['iat']) && abs(time() - $claims['iat']) <= 60 && is_string($claims['jti']);
    if (!$isGood) {
        throw new \UnexpectedValueException('for another request or token, or over a minute old');
    }
    $name = "$thumbprint " . digest($claims['jti']);
    shared(function (&$state) use ($name, $thumbprint) {
        $state['proofs'] = recent($state['proofs'], 120);
        $made = array_filter(array_keys($state['proofs']), fn ($other) => str_starts_with($other, "$thumbprint "));
        if (isset($state['proofs'][$name]) || count($made) >= 200 || count($state['proofs']) >= 10_000) {
            throw new \UnexpectedValueException('used before, or too many in two minutes');
        }
        $state['proofs'][$name] = time();
    });
}

// The session of the present request, with `Authorization: DPoP …` and a proof.
function verify(): array
{
    [$scheme, $token] = explode(' ', $_SERVER['HTTP_AUTHORIZATION'] ?? '', 2) + ['', ''];
    $proof = $_SERVER['HTTP_DPOP'] ?? '';
    if (strtolower($scheme) !== 'dpop' || $proof === '') {
        throw new Refusal(401, 'invalid_token', 'a DPoP token and one proof are required');
    }
    $claims = session($token);
    $path = strtok($_SERVER['REQUEST_URI'], '?');
    judged(401, 'invalid_dpop_proof', fn () => check_proof(
        $proof, $_SERVER['REQUEST_METHOD'], $path, $token, $claims['cnf']['jkt'] ?? null));
    return $claims;
}

// A security event (RFC 8417). Sessions that it ends are refused from now on, longer than any token lives.
function event(string $body): void
{
    $claims = judged(400, 'invalid_request', fn () => signed_by_service($body, 'secevent+jwt', REALM));
    if (!array_intersect(array_map(basename(...), array_keys($claims['events'])), ENDING)) {
        return;
    }
    $subject = $claims['sub_id'];
    [$memory, $whose] = isset($subject['session'])
        ? ['sessions', $subject['session']['id'] ?? null] : ['users', $subject['sub'] ?? null];
    if (!is_string($whose)) {
        throw new Refusal(400, 'invalid_request', 'the event has an unknown form of subject');
    }
    shared(function (&$state) use ($claims, $memory, $whose) {
        $state[$memory] = recent($state[$memory], 600);
        $state[$memory][$whose] = max($claims['toe'], $state[$memory][$whose] ?? 0);
    });
}
