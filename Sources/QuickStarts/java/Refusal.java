/** An error response. */
final class Refusal extends RuntimeException {
    final int status;
    final String code;

    Refusal(int status, String code, String reason) {
        super(String.valueOf(reason));
        this.status = status;
        this.code = code;
    }
}
