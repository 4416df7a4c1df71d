import Domain
import Foundation
import Testing

@Suite("Errors in words")
struct ErrorWordsTests {
    private enum Foreign: Error {
        case connectTimeout
        case failed(reason: String)
        case brokenTLS
    }
    private struct Named: Error, CustomStringConvertible { let description: String }
    private struct Nameless: Error { let secret = "hunter2" }

    @Test("An error is its own sentence or the words of its case, never a type's name or a value")
    func words() {
        #expect(ErrorWords.of(Foreign.connectTimeout) == "connect timeout")
        #expect(ErrorWords.of(Foreign.failed(reason: "hunter2")) == "failed")
        #expect(ErrorWords.of(Foreign.brokenTLS) == "broken TLS")
        #expect(ErrorWords.of(Named(description: "HTTPClientError.connectTimeout")) == "connect timeout")
        #expect(ErrorWords.of(Named(description: "the store is gone: disk full")) == "the store is gone: disk full")
        #expect(ErrorWords.of(Nameless()) == "an error without words of its own")
        #expect(ErrorWords.of(CancellationError()) == "cancelled")
        #expect(ErrorWords.of(Refusal(.unavailable, "Later.", privateDetail: "disk full")) == "unavailable: disk full")
    }
}
