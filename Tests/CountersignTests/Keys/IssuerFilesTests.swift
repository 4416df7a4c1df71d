import Authority
import Encoding
import Fixtures
import Foundation
import Testing

@testable import countersign

/// The line of types in an issuer's file: no types is not the same as all.
@Suite("The file of a trusted issuer")
struct IssuerFilesTests {
    private let place: ScratchDirectory
    private let certificate: String

    init() throws {
        place = try ScratchDirectory()
        certificate = PEM.encode(try WalletIssuer().root, label: "CERTIFICATE")
    }

    private var directory: String { "\(place.path)/issuers" }

    /// The types of the only issuer after its file was added; `nil` for all.
    private func added(_ text: String, _ types: [String] = []) throws -> [String]? {
        try? FileManager.default.removeItem(atPath: directory)
        let path = try place.write(text, "given.pem")
        _ = try IssuerFiles.add(path, as: "copy", types: types.compactMap { CredentialType($0) }, to: directory)
        let anchors = try IssuerFiles.anchors(in: directory)
        #expect(anchors.count == 1)
        return anchors.first?.anchor.typeNames
    }

    @Test("keeps apart that its signers may sign all types, some, and none")
    func types() throws {
        #expect(try added(certificate) == nil)
        #expect(try added("Types: a.b, c\n" + certificate) == ["a.b", "c"])
        for line in ["Types:\n", "Types: \n", "Types: ,\n"] {
            #expect(try added(line + certificate) == [], "\(line)")
            #expect(try added(line + certificate, ["urn:eudi:pid:1"]) == ["urn:eudi:pid:1"])
        }
        // The copy of a copy says the same.
        #expect(try added("Types:\n" + certificate) == [])
        let copy = try String(contentsOfFile: "\(directory)/copy.pem", encoding: .utf8)
        #expect(try added(copy) == [])
    }

    @Test("gets no type that cannot be read back from its line")
    func unreadable() async throws {
        let path = try place.write(certificate, "given.pem")
        let unreadable = [
            "", " ", "a b", "a,b", "a\nTypes: b", "a\r", "a\u{2028}b", "a\u{85}", "a\u{200B}", "\u{0}", "\u{A0}",
        ]
        for type in unreadable {
            #expect(CredentialType(type) == nil, "\(type)")
            let words = ["issuer", "add", path, "--type", "a.b", "--type", type, "--keys", place.path]
            let command = try #require(try CommandLineWords.parse(words) as? any ReportingCommand)
            let error = await #expect(throws: CommandFailure.self, "\(type)") { try await command.report() }
            #expect(error?.exitCode == .usage)
        }
        #expect(!FileManager.default.fileExists(atPath: directory))
        for type in ["org.iso.18013.5.1.mDL", "urn:eudi:pid:1", "https://issuer.example/kinds/führerschein"] {
            #expect(try added(certificate, [type]) == [type])
        }
    }
}
