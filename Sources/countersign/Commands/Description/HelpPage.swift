/// A help page or a usage error of the parser, which breaks all lines but the usage.
enum HelpPage {
    /// The text with its usage broken into lines that fit.
    static func fitted(_ text: String, width: Int) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            let isUsage = line.hasPrefix("USAGE: ") || line.hasPrefix("Usage: ")
            return isUsage && line.count > width ? usage(line, width) : String(line)
        }.joined(separator: "\n")
    }

    /// Breaks a usage between options, and not between an option and its value.
    private static func usage(_ line: Substring, _ width: Int) -> String {
        var parts: [String] = []
        var isOpen = false
        for word in line.split(separator: " ") {
            let isValue = word.hasPrefix("<") && parts.last?.hasPrefix("--") == true
            if let last = parts.last, isOpen || isValue {
                parts[parts.count - 1] = last + " " + word
            } else {
                parts.append(String(word))
            }
            isOpen = (isOpen || word.hasPrefix("[")) && !word.hasSuffix("]") && !word.hasSuffix("]...")
        }
        var lines: [String] = []
        for part in parts {
            if let last = lines.last, last.count + 1 + part.count <= width {
                lines[lines.count - 1] = last + " " + part
            } else {
                lines.append(lines.isEmpty ? part : "         " + part)
            }
        }
        return lines.joined(separator: "\n")
    }
}
