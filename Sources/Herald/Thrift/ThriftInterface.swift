/// The functions and types of `herald.thrift`.
package struct ThriftInterface: Sendable {
    let structures: [String: [Field]]
    package let functions: [String: Function]
}

package extension ThriftInterface {
    indirect enum Kind: Sendable, Equatable {
        case bool, i32, i64, text, binary
        /// A text that contains a JSON value.
        case json
        case list(Kind)
        case structure(String)
    }

    struct Field: Sendable, Equatable {
        package let id: Int16
        package let name: String
        package let kind: Kind
    }

    struct Function: Sendable, Equatable {
        package let name: String
        package let arguments: [Field]
        /// `nil` for a function without a result.
        package let result: Kind?
        /// The structure that explains a refused call.
        package let refusal: Field?
        /// The route of the function, from its annotation: a method, and a path with the names of arguments.
        package let route: String
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
