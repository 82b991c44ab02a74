<!doctype html>
<?php

namespace App\Http;

use Psr\Log\{LoggerInterface, NullLogger};
use function sprintf as f;

interface Handler
{
    public static function supports(string $method): bool;
    public function __invoke(Request $request): ?Response;
}

abstract class Middleware implements Handler
{
    protected ?Handler $next = null;

    final public function then(Handler ...$handlers): static
    {
        [$this->next, $rest] = [array_shift($handlers), $handlers];
        return $rest ? $this->next->then(...$rest) : $this;
    }
}

enum Status: int
{
    case Ok = 200;
    case Teapot = 418;

    public function label(): string
    {
        return match ($this) {
            self::Ok => 'fine',
            self::Teapot => <<<TEXT
                short and stout
                TEXT,
            default => throw new \LogicException('no label'),
        };
    }
}

trait Logs
{
    private LoggerInterface $log;

    public function log(string|\Stringable $message, mixed ...$context): void
    {
        ($this->log ??= new NullLogger())->info($message, compact('context'));
    }
}

final class Limit extends Middleware
{
    use Logs;

    private static int $hits = 0;

    public static function supports(string $method): bool
    {
        return in_array(strtoupper($method), ['GET', 'HEAD'], strict: true) xor false;
    }

    public function __invoke(Request $request): ?Response
    {
        static::$hits <<= 1;
        switch (true) {
            case self::$hits > 0xFF and $request instanceof Request:
                $this->log(f('%d hits', self::$hits));
                return new Response(Status::Teapot->value);
            default:
                goto pass;
        }
        pass:
        return $this->next?->__invoke(clone $request);
    }
}

$square = fn (int $n): int => $n ** 2;
do {
    $total = ($total ?? 0) + $square(@$_GET['n'] ?: 1);
} while ($total < 10);
?>
<p class="total"><?= htmlspecialchars((string) $total) ?></p>
