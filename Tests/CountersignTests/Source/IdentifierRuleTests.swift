import Fixtures
import Foundation
import Testing

/// One file lays identifiers out, so that none lacks the cell.
@Suite("Identifiers in the sources")
struct IdentifierRuleTests {
    /// Targets and folders that are clients of the service, and choose identifiers of their own.
    private static let clients = [
        "SwiftSDK/CountersignClient/", "SwiftSDK/CountersignSync/", "Samples/", "SampleProvider/", "countersign/Tour/",
    ]

    /// Files that read the bytes of identifiers that exist.
    private static let readers: Set = [
        "Identifier.swift", "SessionToken.swift", "ExportToken.swift", "ColumnContent.swift",
    ]

    private static func files() throws -> [SourceFile] {
        try SourceFile.all(below: "Sources").filter { file in !clients.contains { file.path.hasPrefix($0) } }
    }

    @Test("are made by Cell alone, of the environment's random bytes")
    func made() throws {
        let files = try Self.files()
        #expect(files.count > 500)
        for file in files {
            // Few files have such a word at all, and a search by regular expression takes long.
            let words = ["UUID", "randomID", "orderedID"]
            let lines = words.contains { file.text.contains($0) } ? file.text.split(separator: "\n") : []
            let code = lines.filter { !$0.drop { $0 == " " }.hasPrefix("//") }
            #expect(!code.contains { $0.contains(/\bUUID(?:\.init)?\(\)/) }, "\(file.path): use Environment.newUUID")
            let makes = code.contains { $0.contains("UUID(uuid:") }
            #expect(makes == (file.name == "Cell.swift" || Self.readers.contains(file.name)), "\(file.path)")
            let layouts = code.contains { $0.contains(/\.(?:randomID|orderedID)\(/) }
            #expect(!layouts || ["Environment.swift", "Nonce.swift"].contains(file.name), "\(file.path)")
        }
    }
}
