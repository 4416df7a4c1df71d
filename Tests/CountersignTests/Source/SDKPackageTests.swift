import Fixtures
import Foundation
import Testing

/// An app has other versions of the libraries than the service, and needs nothing of the service.
@Suite("The package of the SDK")
struct SDKPackageTests {
    private static let folder = "Sources/SwiftSDK"
    private static let targets: Set = ["Encoding", "Herald", "CountersignClient", "CountersignSync"]

    private static func manifest(_ folder: String) throws -> String {
        let file = RunningService.root.appending(path: folder).appending(path: "Package.swift")
        return try String(contentsOf: file, encoding: .utf8)
    }

    /// A library that a manifest names: how it limits the versions, and by which version.
    struct Requirement {
        fileprivate let kind: String
        let version: [Int]

        /// Whether a range from this version to the next major one contains another version.
        fileprivate func contains(_ other: Requirement) -> Bool {
            kind == "from" && version.first == other.version.first
                && !other.version.lexicographicallyPrecedes(version)
        }
    }

    private static func requirements(_ manifest: String) -> [String: Requirement] {
        let found = manifest.matches(of: /\.package\(url: "([^"]+)", (\w+): "([0-9.]+)"\)/).map { match in
            (
                String(match.1),
                Requirement(kind: String(match.2), version: match.3.split(separator: ".").compactMap { Int($0) })
            )
        }
        return Dictionary(found) { first, _ in first }
    }

    /// How the service pins the libraries of the SDK.
    static func pins() throws -> [String: Requirement] {
        let ranges = requirements(try manifest(folder))
        return requirements(try manifest("")).filter { ranges[$0.key] != nil }
    }

    private static func targets(_ manifest: String) -> [String] {
        manifest.matches(of: /arget\(\s*name: "(\w+)"/).map { String($0.1) }
    }

    @Test("has a range for each library, and the service's version is in it")
    func ranges() throws {
        let manifest = try Self.manifest(Self.folder)
        let ranges = Self.requirements(manifest)
        let pins = try Self.pins()
        #expect(ranges.count >= 5)
        #expect(manifest.matches(of: /\.package\(/).count == ranges.count, "A library without a range of this form.")
        for (library, range) in ranges {
            let pin = try #require(pins[library], "\(library)")
            #expect(pin.kind == "exact" && range.contains(pin), "\(library)")
        }
    }

    @Test("has the targets that an app needs, and none of the service")
    func targets() throws {
        let targets = Self.targets(try Self.manifest(Self.folder))
        #expect(Set(targets) == Self.targets && targets.count == Self.targets.count)
        #expect(Self.targets.isDisjoint(with: Self.targets(try Self.manifest(""))))
        let folder = RunningService.root.appending(path: Self.folder).path
        let names = try FileManager.default.contentsOfDirectory(atPath: folder).filter { !$0.hasPrefix(".") }
        #expect(Set(names) == Self.targets.union(["Package.swift", "README.md"]))
        for target in Self.targets {
            let ours = try #require(DependencyRuleTests.allowed[target])
            #expect(ours.isSubset(of: Self.targets), "\(target)")
        }
    }

    @Test("has documents whose links end in it: its tree has nothing else")
    func links() throws {
        let documents = try MarkdownDocument.all().filter { $0.path.hasPrefix("\(Self.folder)/") }
        #expect(documents.count >= 5)
        for document in documents {
            for link in document.links() { #expect(link.hasPrefix("\(Self.folder)/"), "\(document.path): \(link)") }
        }
    }
}
