extension ThriftInterface {
    struct Defect: Error, Sendable, CustomStringConvertible {
        let description: String
    }

    /// Parses the part of Thrift's language that `herald.thrift` uses: structures, exceptions, one service, and `Json`
    /// as the name of a text.
    init(_ text: String) throws(Defect) {
        var reader = Reader(text)
        while let word = reader.next() {
            switch word {
            case "namespace": reader.skip(2)
            case "typedef":
                try reader.require("string")
                try reader.require("Json")
            case "struct", "exception":
                let name = try reader.name()
                try reader.require("{")
                reader.structures[name] = try reader.fields(until: "}")
            case "service":
                reader.skip(1)
                try reader.require("{")
                while !reader.takes("}") { try reader.function() }
            default: throw reader.defect(word)
            }
        }
        (structures, functions) = (reader.structures, reader.functions)
    }

    private struct Reader {
        private var words: ArraySlice<String>
        var structures: [String: [Field]] = [:]
        var functions: [String: Function] = [:]

        init(_ text: String) {
            let code = text.replacing(/(?s)\/\*.*?\*\//, with: "")
            words = code.matches(of: /"[^"]*"|[A-Za-z_][\w.]*|\d+|[{}()<>:=]/).map { String($0.output) }[...]
        }

        mutating func next() -> String? { words.popFirst() }

        mutating func skip(_ count: Int) { words = words.dropFirst(count) }

        func defect(_ word: String?) -> Defect { Defect(description: "at \(word ?? "its end")") }

        mutating func require(_ wanted: String) throws(Defect) {
            let word = next()
            guard word == wanted else { throw defect(word) }
        }

        mutating func takes(_ wanted: String) -> Bool {
            guard words.first == wanted else { return false }
            skip(1)
            return true
        }

        mutating func name() throws(Defect) -> String {
            guard let word = next(), word.first?.isLetter == true else { throw defect(words.first) }
            return word
        }

        mutating func kind() throws(Defect) -> Kind {
            switch try name() {
            case "bool": return .bool
            case "i32": return .i32
            case "i64": return .i64
            case "string": return .text
            case "binary": return .binary
            case "Json": return .json
            case "list":
                try require("<")
                let element = try kind()
                try require(">")
                return .list(element)
            case let other:
                guard structures[other] != nil else { throw defect(other) }
                return .structure(other)
            }
        }

        mutating func fields(until end: String) throws(Defect) -> [Field] {
            var fields: [Field] = []
            while !takes(end) {
                let word = next()
                guard let id = word.flatMap({ Int16($0) }) else { throw defect(word) }
                try require(":")
                if !takes("required") { _ = takes("optional") }
                let kind = try kind()
                // Thrift reserves some words.
                let name = try name()
                fields.append(Field(id: id, name: name.last == "_" ? String(name.dropLast()) : name, kind: kind))
            }
            return fields
        }

        mutating func function() throws(Defect) {
            let result = takes("void") ? nil : try kind()
            let name = try name()
            try require("(")
            let arguments = try fields(until: ")")
            var refusal: Field?
            if takes("throws") {
                try require("(")
                refusal = try fields(until: ")").first
            }
            try require("(")
            try require("http")
            try require("=")
            guard let route = next(), route.first == "\"" else { throw defect(name) }
            try require(")")
            functions[name] = Function(
                name: name, arguments: arguments, result: result, refusal: refusal,
                route: route.replacing("\"", with: ""))
        }
    }
}
