<?php
// Signed tokens, and the state that is kept of them.
declare(strict_types=1);

namespace Tokens;

use Service\Refusal;

// PHP keeps nothing between requests, and several processes handle them. Their common state is in one file. It is
// replaced as a whole. An empty or truncated file is damaged, not an initial state, and every token is refused.
function shared(callable $change): mixed
{
    umask(0077);
    $place = \Service\setting('STATE', dirname(\Service\setting('PROVIDER', '')) . '/state.json');
    $lock = fopen("$place.lock", 'c');
    flock($lock, LOCK_EX);
    try {
        $state = file_exists($place) ? json_decode(file_get_contents($place), true)
            : ['keys' => [], 'keys_at' => 0, 'proofs' => [], 'sessions' => [], 'users' => []];
        $before = is_array($state) ? $state : throw new Refusal(503, 'temporarily_unavailable', 'damaged state');
        $result = $change($state);
        if ($state !== $before) {
            $text = json_encode($state, JSON_THROW_ON_ERROR);
            if (file_put_contents("$place.new", $text) !== strlen($text) || !rename("$place.new", $place)) {
                throw new Refusal(503, 'temporarily_unavailable', 'the state cannot be stored');
            }
        }
        return $result;
    } finally {
        fclose($lock);
    }
}

// A key of the service, from its certificate. Fetched once, and again for an unknown one, at most once a minute.
function service_key(string $id): mixed
{
    [$keys, $isDue] = shared(function (&$state) use ($id) {
        $isDue = !isset($state['keys'][$id]) && time() >= $state['keys_at'] + ($state['keys'] ? 60 : 5);
        $state['keys_at'] = $isDue ? time() : $state['keys_at'];
        return [$state['keys'], $isDue];
    });
    if ($isDue) {
        $keys = array_column(\Service\get('/.well-known/jwks.json')['keys'], 'x5c', 'kid');
        shared(fn (&$state) => $state['keys'] = $keys);
    }
    $chain = $keys[$id] ?? throw ($keys ? new \UnexpectedValueException('by an unknown key')
        : new Refusal(503, 'temporarily_unavailable', "the service's keys are not known yet"));
    return openssl_pkey_get_public(pem('CERTIFICATE', $chain[0]));
}

function pem(string $kind, string $base64): string
{
    return "-----BEGIN $kind-----\n" . chunk_split($base64, 64) . "-----END $kind-----\n";
}

function decoded(string $text): string
{
    return (string) base64_decode(strtr($text, '-_', '+/'), true);
}

// The claims of a JWS of this type, if the key that `find` returns for its header has signed it.
function read(string $text, string $type, callable $find): array
{
    $parts = explode('.', $text);
    $header = json_decode(decoded($parts[0]), true);
    if (count($parts) !== 3 || ($header['typ'] ?? '') !== $type || isset($header['crit'])) {
        throw new \UnexpectedValueException("no $type");
    }
    $key = $find($header);
    $about = openssl_pkey_get_details($key);
    [$algorithm, $hash, $size] = match ($about['ec']['curve_name'] ?? $about['type']) {
        OPENSSL_KEYTYPE_RSA => ['RS256', OPENSSL_ALGO_SHA256, 0],
        'prime256v1' => ['ES256', OPENSSL_ALGO_SHA256, 32],
        'secp384r1' => ['ES384', OPENSSL_ALGO_SHA384, 48],
    };
    $signature = decoded($parts[2]);
    if ($size > 0) { // OpenSSL wants the two numbers in DER.
        $numbers = strlen($signature) === 2 * $size ? str_split($signature, $size) : [];
        $signature = der(0x30, ...array_map(integer(...), $numbers));
    }
    if (($header['alg'] ?? '') !== $algorithm || openssl_verify("$parts[0].$parts[1]", $signature, $key, $hash) !== 1) {
        throw new \UnexpectedValueException("another's signature");
    }
    return json_decode(decoded($parts[1]), true);
}

// DER, as far as keys and signatures need it.
function der(int $tag, string ...$parts): string
{
    $body = implode('', $parts);
    $length = strlen($body);
    return chr($tag) . ($length < 128 ? chr($length) : "\x82" . pack('n', $length)) . $body;
}

function integer(string $bytes): string
{
    $bytes = ltrim($bytes, "\0");
    return der(2, ord($bytes[0] ?? "\xff") > 127 ? "\0" : '', $bytes);
}

// The two numbers of a signature by P-256, which OpenSSL writes in DER.
function numbers(string $der): string
{
    $parts = [substr($der, 4, ord($der[3])), substr($der, 6 + ord($der[3]))];
    return implode('', array_map(fn ($part) => str_pad(ltrim($part, "\0"), 32, "\0", STR_PAD_LEFT), $parts));
}

// The public key of a JWK (RFC 7517).
function public_key(array $jwk): mixed
{
    $kind = hex2bin(match ($jwk['crv'] ?? $jwk['kty']) {
        'RSA' => '300d06092a864886f70d0101010500',
        'P-256' => '301306072a8648ce3d020106082a8648ce3d030107',
        'P-384' => '301006072a8648ce3d020106052b81040022',
    });
    $key = $jwk['kty'] === 'RSA'
        ? der(0x30, integer(decoded($jwk['n'])), integer(decoded($jwk['e'])))
        : "\4" . decoded($jwk['x']) . decoded($jwk['y']);
    return openssl_pkey_get_public(pem('PUBLIC KEY', base64_encode(der(0x30, $kind, der(3, "\0", $key)))));
}
