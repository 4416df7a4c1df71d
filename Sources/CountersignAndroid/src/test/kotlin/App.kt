import org.countersign.client.Countersign
import org.countersign.client.CountersignException
import org.countersign.client.Problem
import org.countersign.client.Request
import org.countersign.client.Service
import org.countersign.client.State
import org.countersign.client.proof.Card
import org.countersign.client.proof.WalletClaim
import org.countersign.client.store.FileKeys
import org.countersign.client.store.FileStore
import org.countersign.client.streams.NewMessage
import org.countersign.client.user.Proof
import java.io.File
import java.net.URI
import java.util.UUID
import java.util.concurrent.CompletableFuture

/** Calls of the library as an app in Kotlin makes them. It is compiled, with warnings as errors, and not run. */
class App(folder: File, private val identityToken: (String) -> String) {
    private val service = Service.builder("https://auth.example.com", "https://device.auth.example.com")
        .pin("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=").build()
    private val countersign = Countersign.builder(service)
        .keys(FileKeys(File(folder, "keys")))
        .store(FileStore(File(folder, "secret.json")))
        .watch { println("${it.method()} ${it.path()}: ${it.status() ?: "no response"}") }
        .build()

    init {
        countersign.addStateListener { state -> if (state == State.UNCERTIFIED) println("certify the device") }
    }

    /** What Java says may be null must be checked, and what it does not is used at once. */
    fun verify(number: String, code: (Int) -> String, barcode: String): String {
        try {
            countersign.certify(Proof.none())
            val session = countersign.session() ?: countersign.signIn { nonce -> identityToken(nonce.value()) }
            val verification = countersign.phone().start(number)
            val level = verification.check(code(verification.digits()))
            val card = countersign.card().submit(Card.aamva(barcode))
            val name: String? = countersign.account().profile().fullName()
            return "${session.address()} $level ${card.status()} ${name?.length ?: 0}"
        } catch (failure: CountersignException) {
            return when (failure.kind()) {
                CountersignException.Kind.BANNED -> "banned until ${failure.problem()?.until() ?: "further notice"}"
                CountersignException.Kind.UNREACHABLE -> "try again"
                else -> if (failure.code() == Problem.RATE_LIMITED) "wait ${failure.retryAfter()}" else "failed"
            }
        }
    }

    /** A device whose key the platform attests: the name and the challenge go in, the certificates come out. */
    fun certify(attest: (String, ByteArray) -> List<ByteArray>): UUID =
        countersign.certify { name, challenge -> attest(name, challenge) }.id()

    /** A wallet by a call of the platform, and one by a link. */
    fun isAdult(call: (String) -> CompletableFuture<String>, open: (URI) -> CompletableFuture<URI>): Boolean {
        val card = countersign.card()
        val called = card.present(WalletClaim.OVER_18, "https://app.example") { requests -> call(requests) }
        val linked = card.present(WalletClaim.OVER_18, URI("https://app.example/wallet")) { link -> open(link) }
        return called.isAgeReached && linked.isAgeReached
    }

    fun send(stream: UUID, text: String): Long =
        countersign.streams().append(stream, NewMessage.text(text)).sequence()

    fun me(then: (Map<String, Any?>) -> Unit) {
        countersign.callAsync(Request.get("/me")).thenAccept { then(it.json()) }
    }

    fun backend(url: String): Map<String, String> =
        countersign.accessToken("https://api.example.com").headers("GET", url)
}
