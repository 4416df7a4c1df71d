import JWTKit
import Testing
