import Foundation

/// A Swift file of the repository, for tests that read the sources.
package struct SourceFile: Sendable {
    /// The file's name, without its folders.
    package let name: String
    /// The path below the folder that was searched.
    package let path: String
    package let text: String

    /// All Swift files below a folder of the repository and its subfolders, by path, except generated ones.
    package static func all(below folder: String) throws -> [SourceFile] {
        let base = RunningService.root.appending(path: folder)
        let paths = try FileManager.default.subpathsOfDirectory(atPath: base.path).filter { $0.hasSuffix(".swift") }
        return try paths.sorted().compactMap { path in
            let file = base.appending(path: path)
            let text = try String(contentsOf: file, encoding: .utf8)
            guard !text.hasPrefix("// swift-format-ignore-file\n// Generated") else { return nil }
            return SourceFile(name: file.lastPathComponent, path: path, text: text)
        }
    }

    /// All Swift files of a target, by their path below its folder.
    package static func all(of target: String) throws -> [SourceFile] { try all(below: folder(of: target)) }

    /// The folder of a target, from the repository's root. The package of the SDK has some of them.
    package static func folder(of target: String) -> String {
        let folders = ["Sources/SwiftSDK/\(target)", "Sources/\(target)"]
        return folders.first { FileManager.default.fileExists(atPath: RunningService.root.appending(path: $0).path) }
            ?? "Sources/\(target)"
    }

    /// A function of a type or extension.
    package struct Method: Sendable {
        package let name: String
        /// Whether other targets see it.
        package let isPackage: Bool
        /// Its parameters and its body, up to the next function.
        package let text: String
    }

    /// The functions of the file's types and extensions, in their order.
    package var methods: [Method] {
        let starts = text.matches(
            of: /^ {4}(package )?(private )?(?:static )?func (\w+)/.anchorsMatchLineEndings())
        let ends = starts.dropFirst().map(\.range.lowerBound) + [text.endIndex]
        // Members of an extension that says the word do not repeat it.
        let scopes = text.matches(of: /^(package extension )?\w/.anchorsMatchLineEndings())
        return zip(starts, ends).map { start, end in
            let scope = scopes.last { $0.range.lowerBound < start.range.lowerBound }
            return Method(
                name: String(start.output.3),
                isPackage: start.output.1 != nil || start.output.2 == nil && scope?.output.1 != nil,
                text: String(text[start.range.upperBound..<end]))
        }
    }
}
