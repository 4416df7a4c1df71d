<?php
// A backend with its own users, whose sessions Countersign keeps: PHP's own HTTP server, on loopback.
declare(strict_types=1);

require __DIR__ . '/service.php';
require __DIR__ . '/tokens.php';
require __DIR__ . '/sessions.php';

use Service\Refusal;

if (PHP_SAPI === 'cli') { // Started by a person: becomes the server, which runs this file for every request.
    if ($events = getenv('EVENTS')) {
        try {
            Service\receive_events($events);
        } catch (Refusal $refusal) {
            $hint = 'a URL on loopback needs countersign serve --loopback-urls';
            fwrite(STDERR, "EVENTS was not registered ($hint): {$refusal->getMessage()}\n");
            exit(1);
        }
    }
    echo 'ready: ', ORIGIN, "\n";
    pcntl_exec(PHP_BINARY, ['-q', '-S', '127.0.0.1:' . Service\setting('PORT', '8460'), __FILE__]);
}

// PHP's notices, such as of a missing member, are errors.
set_error_handler(fn ($level, $words) => error_reporting() & $level ? throw new ErrorException($words) : false);
const ACCOUNTS = ['ada' => 'correct horse', 'ben' => 'battery staple']; // in place of your table of hashes

function body(): string
{
    $text = file_get_contents('php://input', false, null, 0, 65_537);
    return strlen($text) <= 65_536 ? $text : throw new Refusal(413, 'too_large', '64 KiB at most');
}

function asked(): array
{
    return json_decode(body(), true, 8, JSON_THROW_ON_ERROR);
}

function log_in(string $user, string $password, string $nonce): array
{
    if (!hash_equals(ACCOUNTS[$user] ?? random_bytes(32), $password)) {
        throw new Refusal(403, 'access_denied', 'user or password is wrong');
    }
    return ['identity_token' => Service\identity_token($user, $nonce)];
}

// Handles the request: a status, and a value for the response.
function act(): array
{
    switch ($_SERVER['REQUEST_METHOD'] . ' ' . strtok($_SERVER['REQUEST_URI'], '?')) {
        case 'POST /login':
            return [200, log_in(...asked())];
        case 'GET /me':
            return [200, Sessions\verify()];
        case 'GET /me/user':
            return [200, Service\user(Sessions\verify()['external_id'])];
        case 'DELETE /me/sessions':
            Service\end_sessions(Sessions\verify()['external_id']);
            return [204, null];
        case 'POST /events':
            Sessions\event(body());
            return [202, null];
        case 'POST /doctor':
            return [200, Service\doctor(asked()['identity_token'])];
    }
    throw new Refusal(404, 'not_found', 'unknown call');
}

try {
    [$status, $value] = act();
} catch (Refusal $refusal) {
    $status = $refusal->getCode();
    $value = ['error' => $refusal->error, 'error_description' => $refusal->getMessage()];
    if ($status === 401) {
        header("WWW-Authenticate: DPoP error=\"$refusal->error\"");
    }
} catch (JsonException | ErrorException | TypeError | Error $error) {
    [$status, $value] = [400, ['error' => 'invalid_request', 'error_description' => $error->getMessage()]];
}
http_response_code($status);
header('Content-Type: application/json');
echo $value === null ? '' : Service\json($value);
