/// What can be called: the content of `herald.thrift`.
package struct ThriftInterface: Sendable {
    /// A type as the interface names it.
    package indirect enum Kind: Sendable, Equatable {
        case bool, i32, i64, text, binary
        /// A text that holds a JSON value.
        case json
        case list(Kind)
        case structure(String)
    }

    package struct Field: Sendable, Equatable {
        package let id: Int16
        package let name: String
        package let kind: Kind
    }

    package struct Function: Sendable, Equatable {
        package let name: String
        package let arguments: [Field]
        /// `nil` for a function that answers nothing.
        package let result: Kind?
        /// The structure that says why a call is refused.
        package let refusal: Field?
        /// The route that carries it out, as its annotation has it: a method, and a path with the names of arguments.
        package let route: String
    }

    package let structures: [String: [Field]]
    package let functions: [String: Function]

    /// The interface of this protocol.
    package static let herald: ThriftInterface = {
        do {
            return try ThriftInterface(document)
        } catch {
            preconditionFailure("herald.thrift, \(error)")
        }
    }()
}
