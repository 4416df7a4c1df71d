/// The functions and types of `herald.thrift`.
public struct ThriftInterface: Sendable {
    let structures: [String: [Field]]
    public let functions: [String: Function]
}

public extension ThriftInterface {
    indirect enum Kind: Sendable, Equatable {
        case bool, i32, i64, text, binary
        /// A text that contains a JSON value.
        case json
        case list(Kind)
        case structure(String)
    }

    struct Field: Sendable, Equatable {
        public let id: Int16
        public let name: String
        public let kind: Kind
    }

    struct Function: Sendable, Equatable {
        public let name: String
        public let arguments: [Field]
        /// `nil` for a function without a result.
        public let result: Kind?
        /// The structure that explains a refused call.
        public let refusal: Field?
        /// The route of the function, from its annotation: a method, and a path with the names of arguments.
        public let route: String
    }

    /// The interface that is compiled into the service.
    static let herald: ThriftInterface = {
        do {
            return try ThriftInterface(document)
        } catch {
            preconditionFailure("herald.thrift, \(error)")
        }
    }()
}
