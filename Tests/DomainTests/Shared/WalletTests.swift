import Encoding
import Foundation
import Testing

@testable import Domain

@Suite("What wallets prove and who may call them")
struct WalletTests {
    @Test("An origin is what a browser or Android writes, and nothing that means the same")
    func origins() {
        let digest = Base64URL.encode([UInt8](repeating: 7, count: 32))
        for text in ["https://app.example", "https://app.example:8443", "android:apk-key-hash:\(digest)"] {
            #expect(WalletOrigin(text)?.text == text && WalletOrigin(text)?.isReturnAddress == false, "\(text)")
        }
        for text in ["https://app.example/wallet", "https://app.example:8443/a/b"] {
            #expect(WalletOrigin(text)?.text == text && WalletOrigin(text)?.isReturnAddress == true, "\(text)")
        }
        for text in [
            "", "app.example", "http://app.example", "http://127.0.0.1", "https://app.example/", "https://App.example",
            "https://app.example:443", "https://app.example:443/path", "https://app.example?x",
            "https://app.example/path?x", "https://app.example/path?", "https://app.example/path#x",
            "https://App.example/path", "http://app.example/path", "example.app:/path", "https://user@app.example",
            "https://app.example#x", "android:apk-key-hash:", "android:apk-key-hash:AAAA", "ios:bundle-id:x",
        ] {
            #expect(WalletOrigin(text) == nil, "\(text)")
        }
    }

    @Test("A proof of an age proves every lower one, and no higher one")
    func ages() {
        #expect(AgeProof.over18.proves(18) && !AgeProof.over18.proves(21))
        #expect(AgeProof.over21.proves(18) && AgeProof.over21.proves(21))
        #expect(AgeProof(.identity) == nil)
        for value in 1...3 { #expect(AgeProof(text: "\(value)")?.text == "\(value)") }
        for text in ["", "0", "4", "-1", "x", "18"] { #expect(AgeProof(text: text) == nil, "\(text)") }
    }

    @Test("A query asks for no portrait, for one age at most, and for no age of a PID")
    func queries() {
        for wanted in Presentation.Wanted.allCases {
            let credentials = WalletQuery.credentials(for: wanted)
            let claims = credentials.flatMap { $0.claims.compactMap(\.last) }
            #expect(!claims.contains("portrait"))
            for credential in credentials {
                let ages = credential.claims.compactMap { $0.last.flatMap(AgeStatement.age) }
                #expect(ages == (wanted.age.map { [$0] } ?? []), "\(credential.id)")
            }
            #expect((wanted == .identity) == credentials.contains { $0.format == .selectiveDisclosure })
        }
    }

    @Test("A defect of a presentation has the same word as reason")
    func reasons() {
        for reason in PresentationDefect.Reason.allCases {
            #expect(Refusal.Reason(reason).rawValue == reason.rawValue)
        }
    }
}
