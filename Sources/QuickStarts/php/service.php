<?php
// A backend's calls to Countersign: identity tokens, and queries about users and tokens.
declare(strict_types=1);

namespace Service;

// An error response. Its code is the status.
final class Refusal extends \Exception
{
    public function __construct(int $status, public readonly string $error, string $reason)
    {
        parent::__construct($reason, $status);
    }
}

function setting(string $name, string $usual): string
{
    return getenv($name) ?: $usual;
}

define('SERVICE', setting('SERVICE', 'https://127.0.0.1:8440')); // its public URL, the issuer of session tokens
define('REALM', setting('REALM', 'localhost')); // its name, the issuer of security events
// The output of `countersign provider add --json`.
define('PROVIDER', json_decode(file_get_contents(setting('PROVIDER', 'provider.json')), true));

function base64url(string $data): string
{
    return rtrim(strtr(base64_encode($data), '+/', '-_'), '=');
}

// SHA-256 in base64url, as in JOSE.
function digest(string $data): string
{
    return base64url(hash('sha256', $data, true));
}

function json(mixed $value): string
{
    return json_encode($value, JSON_THROW_ON_ERROR | JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE);
}

// A token of this provider, for `life` seconds.
function sign(string $contentType, int $life, array $claims): string
{
    $claims += ['iss' => PROVIDER['provider_id'], 'aud' => REALM, 'iat' => time(), 'exp' => time() + $life];
    $key = openssl_pkey_get_private(file_get_contents(setting('KEY', 'provider.key')));
    $isRSA = openssl_pkey_get_details($key)['type'] === OPENSSL_KEYTYPE_RSA;
    $header = ['alg' => $isRSA ? 'RS256' : 'ES256', 'typ' => 'JWT', 'cty' => $contentType, 'kid' => PROVIDER['key_id']];
    $input = base64url(json($header)) . '.' . base64url(json($claims));
    openssl_sign($input, $signature, $key, OPENSSL_ALGO_SHA256);
    return $input . '.' . base64url($isRSA ? $signature : \Tokens\numbers($signature));
}

function send(string $method, string $path, array $headers = [], string $body = ''): mixed
{
    $answer = @file_get_contents(SERVICE . $path, false, stream_context_create([
        'http' => ['method' => $method, 'header' => $headers, 'content' => $body, 'timeout' => 5,
                   'ignore_errors' => true, 'follow_location' => 0],
        'ssl' => ['cafile' => setting('CA', 'Keys/ca.pem')],
    ]));
    if ($answer === false) {
        throw new Refusal(503, 'temporarily_unavailable', error_get_last()['message'] ?? 'no answer');
    }
    $status = (int) explode(' ', $http_response_header[0])[1];
    if ($status >= 300) {
        throw new Refusal(502, 'service_refused', $answer);
    }
    return json_decode($answer, true);
}

// A public document of the service.
function get(string $path): mixed
{
    return send('GET', $path);
}

// A call with a token for this one request.
function call(string $method, string $path, ?array $value = null): mixed
{
    $body = $value === null ? '' : json($value);
    $token = sign('layer-provider;v=1', 60, [
        'jti' => bin2hex(random_bytes(16)), 'htm' => $method, 'htu' => SERVICE . $path,
        'body_sha256' => digest($body)]);
    return send($method, $path, ["Authorization: Bearer $token", 'Content-Type: application/json'], $body);
}

// States that this user has just logged in on the device with this nonce. Check that before you call it.
function identity_token(string $user, string $nonce): string
{
    return sign('layer-eit;v=1', 300, ['sub' => $user, 'nce' => $nonce]);
}

// The user's level, age flags and ban, by the service.
function user(string $externalID): mixed
{
    return call('GET', '/provider/users/' . rawurlencode($externalID));
}

// Signs a user out on every device.
function end_sessions(string $externalID): void
{
    call('DELETE', '/provider/users/' . rawurlencode($externalID) . '/sessions');
}

// Every defect that the service finds in an identity token. It does not spend the nonce.
function doctor(string $token): mixed
{
    return call('POST', '/provider/token-check', ['identity_token' => $token]);
}

// Sets the URL to which the service sends security events.
function receive_events(string $url): void
{
    call('PUT', '/provider/webhook', ['url' => $url]);
}
